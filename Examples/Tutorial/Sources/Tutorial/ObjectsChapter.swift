import Foundation
import Roost

/// Shows how objects are created, read, updated and deleted.
@MainActor
struct ObjectsChapter {
    let stack: Stack

    func run() async throws {
        try create()
        try read()
        try fetch()
        try update()
        try validate()
        try delete()
        try await deleteMany()
    }

    private func create() throws {
        let view = stack.view
        for (name, salary) in [("Ada", 5000), ("Grace", 6000), ("Edsger", 4000), ("Barbara", 7000)] {
            let employee: Employee = try view.insert()
            employee.name = name
            employee.salary = Int64(salary)
        }
        try view.save()
        try check(!view.hasChanges, "a saved context has no changes")
        print("Created \(try view.count(Fetch<Employee>())) employees.")
    }

    private func read() throws {
        let employees = try stack.view.fetch(Fetch<Employee>(where: "salary >= 5000", sortedBy: ["name"]))
        try check(employees.map(\.name) == ["Ada", "Barbara", "Grace"], "three employees, by name")
        print("At least 5000:", employees.map(\.name).joined(separator: ", "))
    }

    private func fetch() throws {
        let minimum: Int64 = 5000
        let request = try Fetch(
            #Predicate<Employee> { $0.salary > minimum && $0.name != "Barbara" },
            sortedBy: [SortKey(\.salary, order: .reverse)], limit: 1)
        let found = try stack.view.fetch(request)
        try check(found.map(\.name) == ["Grace"], "one employee, the one with the highest salary")
        print("The first with more than 5000, without Barbara:", found.map(\.name).joined())
    }

    private func update() throws {
        let view = stack.view
        for employee in try view.fetch(Fetch<Employee>(where: "name == \("Ada")")) {
            employee.city = "London"
            print("Changed, not saved:", employee.changedValues())
        }
        // Fetches see unsaved changes.
        try check(try view.count(Fetch<Employee>(where: "city == 'London'")) == 1, "an unsaved change is found")
        view.rollback()
        try check(try view.count(Fetch<Employee>(where: "city == 'London'")) == 0, "a rollback discards changes")
        for employee in try view.fetch(Fetch<Employee>()) { employee.salary += 100 }
        try view.save()
        let salaries = try view.fetch(Fetch<Employee>(sortedBy: ["salary"])).map(\.salary)
        try check(salaries == [4100, 5100, 6100, 7100], "every salary is higher by 100")
        print("Salaries:", salaries.map(String.init).joined(separator: ", "))
    }

    private func validate() throws {
        let view = stack.view
        let nobody: Employee = try view.insert()
        nobody.salary = -1
        do {
            try view.save()
            throw TutorialError("A broken rule must not be saved.")
        } catch let error as StoreError where error.code == .validationFailed {
            for failure in error.failures { print("Rule \(failure.code): \(failure.property ?? "the object")") }
        }
        view.rollback()
    }

    private func delete() throws {
        let view = stack.view
        let edsger = try view.fetch(Fetch<Employee>(where: "name == 'Edsger'"))
        for employee in edsger { view.delete(employee) }
        try check(edsger.allSatisfy(\.isDeleted), "the object is marked")
        try view.save()
        try check(edsger.allSatisfy { $0.context == nil }, "a deleted object has left its context")
        print("Left after the delete: \(try view.count(Fetch<Employee>()))")
    }

    /// Deletes in the store, without creating objects.
    ///
    /// Both contexts merge the result.
    private func deleteMany() async throws {
        let (view, background) = (stack.view, stack.background)
        guard let ada = try view.fetch(Fetch<Employee>(where: "name == 'Ada'")).first else {
            throw TutorialError("Ada is missing.")
        }
        let id = ada.id
        try await background.perform { context in
            context.mergesChangesAutomatically = true
            try check(context.existingObject(id).name == "Ada", "the background context has the object too")
        }
        try stack.container.execute(BatchDeleteRequest(FetchRequest("Employee", where: "salary < 6000")))
        view.processPendingChanges()
        try check(ada.isDeleted, "the view context knows of the delete")
        let isFound = await background.perform { context in (try? context.existingObject(id)) != nil }
        try check(!isFound, "the background context knows of the delete")
        let names = try view.fetch(Fetch<Employee>(sortedBy: ["name"])).map(\.name)
        try check(names == ["Barbara", "Grace"], "two employees stay")
        print("After a batch delete:", names.joined(separator: ", "))
    }
}
