import Roost

/// Shows a relationship between departments and employees, and the four delete rules.
@MainActor
struct RelationshipsChapter {
    let stack: Stack

    func run() async throws {
        try relate()
        try nullify()
        try cascade()
        try deny()
        try noAction()
    }

    private func department(_ name: String) throws -> Department {
        let department: Department = try stack.view.insert()
        department.name = name
        return department
    }

    private func relate() throws {
        let view = stack.view
        let research = try department("Research")
        let employees = try view.fetch(Fetch<Employee>(sortedBy: ["name"]))
        research.employees.insert(employees[0])
        employees[1].department = research
        // Both sides of a relationship change at once.
        try check(employees[0].department === research, "the other side refers to the department")
        try check(research.employees.count == 2, "the department has both")
        try view.save()
        let names = try view.fetch(Fetch<Employee>(where: "department.name == 'Research'", sortedBy: ["name"]))
        print("Research:", names.map(\.name).joined(separator: ", "))
    }

    private func nullify() throws {
        let view = stack.view
        let research = try view.fetch(Fetch<Department>(where: "name == 'Research'"))[0]
        let employees = Array(research.employees)
        view.delete(research)
        try view.save()
        try check(employees.count == 2, "the department had two employees")
        try check(employees.allSatisfy { $0.department == nil }, "they forget the department")
        print("nullify: \(employees.count) employees without a department")
    }

    private func cascade() throws {
        let view = stack.view
        let sales = try department("Sales")
        for title in ["Autumn", "Spring"] {
            let project: Project = try view.insert()
            project.title = title
            sales.projects.insert(project)
        }
        try view.save()
        view.delete(sales)
        try view.save()
        let count = try view.count(Fetch<Project>())
        try check(count == 0, "the projects are deleted with the department")
        print("cascade: \(count) projects left")
    }

    private func deny() throws {
        let view = stack.view
        let purchasing = try department("Purchasing")
        let order: Order = try view.insert()
        order.title = "Chairs"
        order.department = purchasing
        try view.save()
        view.delete(purchasing)
        do {
            try view.save()
            throw TutorialError("A department with orders must stay.")
        } catch let error as StoreError where error.code == .validationFailed {
            print("deny: the save fails for \(error.failures.compactMap(\.property).joined(separator: ", "))")
        }
        view.rollback()
        try check(try view.count(Fetch<Department>(where: "name == 'Purchasing'")) == 1, "the department stays")
        view.delete(order)
        view.delete(purchasing)
        try view.save()
        print("deny: without orders the department can be deleted")
    }

    private func noAction() throws {
        let view = stack.view
        let archive = try department("Archive")
        let report: Report = try view.insert()
        report.title = "1998"
        report.department = archive
        try view.save()
        let id = archive.objectID
        view.delete(archive)
        try view.save()
        try check(report["department"] == .objectID(id), "the reference stays")
        guard let missing = report.department else { throw TutorialError("The reference must stay.") }
        // Only reading a fault reveals that its object does not exist.
        try check(missing.name.isEmpty && missing.isDeleted, "its object does not exist")
        print("noAction: the report refers to a department that does not exist")
        report.department = nil
        try view.save()
    }
}
